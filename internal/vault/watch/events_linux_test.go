package watch

import "testing"

func TestMountsOf(t *testing.T) {
	t.Parallel()
	const text = `25 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 25 0:27 / /home/n/My\040notes/disk rw - tmpfs tmpfs rw
32 25 0:28 / /home/n/My\040notes2 rw - tmpfs tmpfs rw
33 25 0:29 / /srv/vault rw - tmpfs tmpfs rw
34 33 0:30 / /srv/vault/a\134b rw - tmpfs tmpfs rw
35 25
`
	for dir, want := range map[string]string{
		"/home/n/My notes": `31 0:27 /home/n/My\040notes/disk`,
		"/srv/vault":       "33 0:29 /srv/vault\n34 0:30 /srv/vault/a\\134b",
		`/srv/vault/a\b`:   `34 0:30 /srv/vault/a\134b`,
		"/srv":             "33 0:29 /srv/vault\n34 0:30 /srv/vault/a\\134b",
		"/elsewhere":       "",
	} {
		if got := mountsOf(text, dir); got != want {
			t.Errorf("%s: %q, not %q", dir, got, want)
		}
	}
}
