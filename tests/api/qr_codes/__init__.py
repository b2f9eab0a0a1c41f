"""QR codes of links over REST."""
