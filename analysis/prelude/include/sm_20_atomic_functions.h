#pragma once
#define __SM_20_ATOMIC_FUNCTIONS_H__
#include "kernelskill/atomics.h"
