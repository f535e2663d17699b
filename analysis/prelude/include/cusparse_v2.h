#pragma once
#define CUSPARSE_V2_H_
#include "cusparse.h"
