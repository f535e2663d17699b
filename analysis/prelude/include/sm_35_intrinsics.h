#pragma once
#include "kernelskill/cached_access.h"
