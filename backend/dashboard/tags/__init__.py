"""The pages for tags and UTM templates."""
