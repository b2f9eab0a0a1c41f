"""webhook_receiver/: the examples of receivers, run as their users run them."""
