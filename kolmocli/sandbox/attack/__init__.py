"""Hostile programs for anybody's sandbox or grader: `kolmo sandbox attack`."""
