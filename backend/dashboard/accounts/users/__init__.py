"""How the people of an organization come in: sign-in, second factor, passkeys, invitations and passwords."""
