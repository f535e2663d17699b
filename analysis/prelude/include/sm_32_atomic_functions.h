#pragma once
#include "kernelskill/atomics.h"
