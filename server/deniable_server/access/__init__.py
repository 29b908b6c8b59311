"""Access: invitation codes for respondents, and API keys for programs."""
