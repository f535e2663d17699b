#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__
#include "kernelskill/builtin_variables.h"
