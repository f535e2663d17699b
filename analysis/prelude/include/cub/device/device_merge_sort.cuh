#pragma once
#include "cub/device.cuh"
