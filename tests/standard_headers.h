/// The headers that most tests read, which the unity builds compile once for each test program. A
/// test includes what it uses all the same: the debug build does without this file.
#pragma once

#include "analysis/source/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <expected>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>
