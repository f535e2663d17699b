#pragma once
#define __TEXTURE_INDIRECT_FUNCTIONS_H__
#include "kernelskill/textures.h"
