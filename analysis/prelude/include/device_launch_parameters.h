#pragma once
#include "kernelskill/builtin_variables.h"
