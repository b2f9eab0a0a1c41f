"""What every page has: routes behind a sign-in, forms with a token, navigation, styles, errors."""
