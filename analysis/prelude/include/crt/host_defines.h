#pragma once
#define __HOST_DEFINES_H__
#include "kernelskill/language.h"
