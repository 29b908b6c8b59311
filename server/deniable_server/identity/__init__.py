"""Identity: accounts, login, sessions, passwords and second factors."""
