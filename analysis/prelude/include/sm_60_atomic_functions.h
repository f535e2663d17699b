#pragma once
#define __SM_60_ATOMIC_FUNCTIONS_H__
#include "kernelskill/atomics.h"
