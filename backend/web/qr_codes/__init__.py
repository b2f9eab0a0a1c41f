"""QR codes of short URLs as images, drawings and sheets of labels."""
