#pragma once
#include "kernelskill/language.h"
