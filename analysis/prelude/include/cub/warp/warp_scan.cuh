#pragma once
#include "cub/block.cuh"
