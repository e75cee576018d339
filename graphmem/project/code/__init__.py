"""Operations on code: symbols, positions in files, impact."""
