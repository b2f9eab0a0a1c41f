"""Link domains over REST."""
