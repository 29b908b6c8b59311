"""The game of docs/reference/adversary.md: a server in this process, what each role sees of it, and what an adversary learns from that."""
