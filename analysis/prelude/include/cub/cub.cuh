/// CUB.
#pragma once
#include "cub/block.cuh"
#include "cub/device.cuh"
