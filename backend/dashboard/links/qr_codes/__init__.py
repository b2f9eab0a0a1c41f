"""The pages of QR codes: of one link, of many, and the logo."""
