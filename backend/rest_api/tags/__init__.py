"""Tags and UTM templates."""
