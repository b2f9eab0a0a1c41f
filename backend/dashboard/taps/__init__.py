"""What taps on links do, in the words of pages."""
