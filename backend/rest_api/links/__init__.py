"""Operations on links."""
