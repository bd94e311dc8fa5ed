"""What recurrent attention is trained with: losses, schedules, sampling, averaging."""
