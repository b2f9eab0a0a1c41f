"""What mails show of reports, each kind in its way: figures of the reader's last whole week or month."""
