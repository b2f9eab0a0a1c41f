"""What all pages share: routes that need a sign-in, protected forms, navigation, styles and error pages."""
