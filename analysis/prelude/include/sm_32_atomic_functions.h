#pragma once
#define __SM_32_ATOMIC_FUNCTIONS_H__
#include "kernelskill/atomics.h"
