#pragma once
#include "kernelskill/integer_intrinsics.h"
