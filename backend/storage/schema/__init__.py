"""What collections say of themselves and of their documents."""
