#pragma once
#define __DEVICE_FUNCTIONS_H__
#include "prelude.h"
