#pragma once
#include "kernelskill/textures.h"
