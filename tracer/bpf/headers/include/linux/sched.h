#pragma once

#define TASK_COMM_LEN 16
