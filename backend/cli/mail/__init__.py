"""`waylink mail`: the mails that the service sends."""
