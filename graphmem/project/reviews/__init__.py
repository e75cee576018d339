"""Operations on changes: reviews, advice before an edit, drift."""
