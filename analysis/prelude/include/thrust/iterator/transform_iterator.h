#pragma once
#include "thrust/containers.h"
