"""QR codes of links."""
