"""Single sign-on: login at a provider of OpenID Connect."""
