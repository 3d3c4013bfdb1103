from tests.workers import workers_stay

__all__ = ["workers_stay"]
