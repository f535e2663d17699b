#include "engine/search/at_once.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kernelskill::engine {

void atOnce(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto workOff = [&] {
        for (std::size_t index = next++; index < count; index = next++)
            work(index);
    };
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < std::min(threads, count); ++thread)
        others.emplace_back(workOff);
    workOff();
}

} // namespace kernelskill::engine
