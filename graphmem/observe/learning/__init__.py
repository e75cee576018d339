"""Learning: findings of ended sessions become memories."""
