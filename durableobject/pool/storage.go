package pool

import (
	"errors"
	"slices"

	"minido.dev/minido/alarms"
)

// causeRestored is the cause of alarms that RestoreAlarms sets.
const causeRestored = "restore"

// Alarm is an object's alarm: its time is in milliseconds since the epoch.
type Alarm struct {
	Object alarms.Object
	AtMs   int64
}

// Alarms lists the alarms, by class and id. It must run on the loop of the present
// realm.
func (p *Pool) Alarms() (all []Alarm, err error) {
	list, err := p.objects()
	for _, info := range list {
		if info.Alarm != nil {
			all = append(all, Alarm{alarms.Object{Namespace: p.uniqueKey(info.Class), ID: info.ID, Name: info.Name}, *info.Alarm})
		}
	}
	return all, err
}

func (p *Pool) uniqueKey(class string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, n := range p.namespaces { // order-independent: one has the class
		if n.class == class {
			return key
		}
	}
	return ""
}

// RestoreAlarms makes these all alarms that there are. It must run on the loop of
// the present realm, with no object in memory.
func (p *Pool) RestoreAlarms(want []Alarm) error {
	now, err := p.Alarms()
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range now {
		if !slices.Contains(want, a) {
			errs = append(errs, p.alarms.Clear(a.Object, causeRestored))
		}
	}
	for _, a := range want {
		if !slices.Contains(now, a) {
			errs = append(errs, p.alarms.Set(a.Object, a.AtMs, causeRestored))
		}
	}
	return errors.Join(errs...)
}
