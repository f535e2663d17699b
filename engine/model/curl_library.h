/// libcurl, loaded when a language model is first asked. It loads about twenty further libraries,
/// which no other use of the program should pay for.
#pragma once

#include "analysis/source/error.h"

#include <curl/curl.h>

namespace kernelskill::engine {

/// The functions of libcurl that are used: all of them or none. The library stays loaded until the
/// process ends, because libcurl and its dependencies cannot be unloaded safely.
struct CurlLibrary {
    decltype(&curl_easy_init) easyInit = nullptr;
    decltype(&curl_easy_cleanup) easyCleanup = nullptr;
    decltype(&curl_easy_setopt) easySetOption = nullptr;
    decltype(&curl_easy_getinfo) easyGetInfo = nullptr;
    decltype(&curl_easy_header) easyHeader = nullptr;
    decltype(&curl_easy_strerror) easyErrorText = nullptr;
    decltype(&curl_multi_init) multiInit = nullptr;
    decltype(&curl_multi_cleanup) multiCleanup = nullptr;
    decltype(&curl_multi_add_handle) multiAdd = nullptr;
    decltype(&curl_multi_remove_handle) multiRemove = nullptr;
    decltype(&curl_multi_perform) multiPerform = nullptr;
    decltype(&curl_multi_poll) multiPoll = nullptr;
    decltype(&curl_multi_wakeup) multiWakeup = nullptr;
    decltype(&curl_multi_info_read) multiInfoRead = nullptr;
    decltype(&curl_slist_append) listAppend = nullptr;
    decltype(&curl_slist_free_all) listFree = nullptr;
    decltype(&curl_url) url = nullptr;
    decltype(&curl_url_cleanup) urlCleanup = nullptr;
    decltype(&curl_url_set) urlSet = nullptr;
    decltype(&curl_url_get) urlGet = nullptr;
    decltype(&curl_free) free = nullptr;

    /// Missing, with a remedy, if there is no libcurl or it is too old. After the first call it
    /// takes microseconds. Thread-safe.
    [[nodiscard]] static Result<CurlLibrary> load();
};

} // namespace kernelskill::engine
