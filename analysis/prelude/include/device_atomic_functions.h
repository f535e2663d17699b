#pragma once
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#include "kernelskill/atomics.h"
