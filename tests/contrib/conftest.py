from tests.training.conftest import chat_folder, taught
from tests.workers import workers_stay

__all__ = ["chat_folder", "taught", "workers_stay"]
