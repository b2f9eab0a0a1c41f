"""The operations that follow from resources."""
