#pragma once
#include "kernelskill/warp.h"
