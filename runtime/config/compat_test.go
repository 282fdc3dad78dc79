package config

import (
	"strings"
	"testing"
)

// TestCompatFollowsDateAndFlags pins flags that other packages depend on. Each
// row was observed on workerd 1.20261117 or follows from its table.
func TestCompatFollowsDateAndFlags(t *testing.T) {
	for _, tc := range []struct {
		date  string
		flags string
		name  string
		want  bool
	}{
		{"2022-03-20", "", "global_navigator", false},
		{"2022-03-21", "", "global_navigator", true},
		{"2022-03-20", "global_navigator", "global_navigator", true},
		{"2025-01-01", "no_global_navigator", "global_navigator", false},
		{"2025-01-01", "no_global_navigator", "no_global_navigator", true},
		{"2025-01-01", "", "no_global_navigator", false},
		{"2026-08-03", "", "nodejs_compat", false},
		{"2026-08-04", "", "nodejs_compat", true},
		{"2026-08-04", "no_nodejs_compat", "nodejs_compat", false},
		{"2026-08-04", "no_nodejs_compat", "nodejs_compat_v2", true},
		{"2024-09-22", "nodejs_compat", "nodejs_compat_v2", false},
		{"2024-09-23", "nodejs_compat", "nodejs_compat_v2", true},
		{"2024-09-23", "", "nodejs_compat_v2", false},
		{"2024-09-23", "nodejs_compat_v2", "nodejs_zlib", true},
		{"2025-03-31", "nodejs_compat", "nodejs_compat_populate_process_env", false},
		{"2025-04-01", "nodejs_compat", "nodejs_compat_populate_process_env", true},
		{"2025-04-01", "nodejs_compat,nodejs_compat_do_not_populate_process_env", "nodejs_compat_populate_process_env", false},
		{"2025-09-01", "nodejs_compat", "enable_nodejs_http_server_modules", true},
		{"2025-09-01", "", "enable_nodejs_http_server_modules", false},
		{"2025-09-01", "nodejs_compat,disable_nodejs_http_modules", "enable_nodejs_http_server_modules", false},
		{"2026-02-23", "", "delete_all_deletes_alarm", false},
		{"2026-02-24", "", "delete_all_deletes_alarm", true},
		{"2026-04-21", "", "enhanced_error_serialization", true},
		{"2025-05-31", "", "allow_eval_during_startup", false},
		{"2025-06-01", "", "allow_eval_during_startup", true},
		{"2025-11-17", "", "enable_ctx_exports", true},
		{"2026-11-24", "", "disallow_importable_env", false},
		{"2020-01-01", "disallow_importable_env", "allow_importable_env", false},
		{"2020-01-01", "", "r2_public_beta_bindings", true},
		{"2020-01-01", "from_the_future", "from_the_future", true},
		{"2020-01-01", "", "from_the_future", false},
	} {
		p := &Project{CompatibilityDate: tc.date}
		if tc.flags != "" {
			p.CompatibilityFlags = strings.Split(tc.flags, ",")
		}
		if got := p.CompatSet().Named(tc.name); got != tc.want {
			t.Errorf("at %s with [%s]: %s = %v, want %v", tc.date, tc.flags, tc.name, got, tc.want)
		}
	}
}

// TestValidCompatDate has the edges that workerd has.
func TestValidCompatDate(t *testing.T) {
	for date, want := range map[string]bool{
		"2025-01-01": true, "2025-02-31": true, "2025-12-31": true,
		"": false, "2025-1-1": false, "2025-13-01": false, "2025-00-01": false, "2025-01-00": false,
		"2025-01-32": false, "0000-01-01": false, "2025/01/01": false, "20250101": false, "2025-01-0x": false,
	} {
		if got := validCompatDate(date); got != want {
			t.Errorf("%q: %v, want %v", date, got, want)
		}
	}
}
