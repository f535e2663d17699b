#pragma once
#define __SURFACE_INDIRECT_FUNCTIONS_H__
#include "kernelskill/textures.h"
