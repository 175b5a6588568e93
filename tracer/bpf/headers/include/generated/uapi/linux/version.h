#pragma once

#include <linux/version.h>
